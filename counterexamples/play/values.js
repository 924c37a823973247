"use strict";
// Values of the model: out of the bits of a state, in the words of the language, and as ITF writes them.
// Values are represented as in spec/model/values.py; sets and bags are lists in canonical order.
const Values = (() => {
  const ones = (width) => (1n << BigInt(width)) - 1n;

  // Canonical order: nothing first, numbers, lists by their parts.
  function compare(a, b) {
    if (a === null || b === null) return (a !== null) - (b !== null);
    if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const found = compare(a[i], b[i]);
      if (found) return found;
    }
    return a.length - b.length;
  }
  const equal = (a, b) => compare(a, b) === 0;

  // The value of a code, by its packing.
  function decode(packing, code) {
    switch (packing.is) {
      case "never": return null;
      case "truth": return code === 1n;
      case "number": return Number(code) + packing.lo;
      case "option": return code === 0n ? null : decode(packing.of, code - 1n);
      case "parts": {
        let at = packing.w;
        return packing.parts.map((part) => {
          at -= part.w;
          return decode(part, (code >> BigInt(at)) & ones(part.w));
        });
      }
      case "tagged": {
        const tag = Number(code >> BigInt(packing.payload));
        return [tag, ...decode(packing.cases[tag], code & ones(packing.payload))];
      }
      case "array":
        return Array.from({ length: packing.count }, (_, i) =>
          decode(packing.of, (code >> BigInt((packing.count - 1 - i) * packing.of.w)) & ones(packing.of.w)));
      case "list": return members(packing, code);
      case "set": return members(packing, code).sort(compare);
      case "bag": return counted(members(packing, code));
      case "mask": {
        const found = [];
        for (let i = 0; i < packing.w; i++) {
          if ((code >> BigInt(i)) & 1n) found.push(decode(packing.of, BigInt(packing.codes ? packing.codes[i] : i)));
        }
        return found.sort(compare);
      }
      default: throw new TypeError(`no packing ${packing.is}`);
    }
  }

  function members(packing, code) {
    return Array.from({ length: Number(code >> BigInt(packing.body)) }, (_, i) =>
      decode(packing.of, (code >> BigInt(i * packing.of.w)) & ones(packing.of.w)));
  }

  function counted(all) {
    const found = [];
    for (const each of all.sort(compare)) {
      const last = found[found.length - 1];
      if (last && equal(last[0], each)) last[1] += 1; else found.push([each, 1]);
    }
    return found;
  }

  // Values of types, which are numbers in `types`.
  function of(types) {
    function show(number, value) {
      const type = types[number];
      const all = (each, values) => values.map((value) => show(each, value)).join(", ");
      const fields = (values) => type.fields.map(([name, of], i) => `${name} = ${show(of, values[i])}`).join(", ");
      switch (type.is) {
        case "bool": return value ? "true" : "false";
        case "int": return String(value);
        case "enum": case "sort": return type.names[value];
        case "option": return value === null ? "none" : show(type.of, value);
        case "record": return `${type.name}(${fields(value)})`;
        case "case": return type.fields.length ? `${type.name}(${fields(value.slice(1))})` : type.name;
        case "union": return show(type.cases[value[0]], value);
        case "tuple": return `(${type.items.map((of, i) => show(of, value[i])).join(", ")})`;
        case "seq": return `[${all(type.of, value)}]`;
        case "set": return `{${all(type.of, value)}}`;
        case "bag": return `{${all(type.of, value.flatMap(([each, many]) => Array(many).fill(each)))}}`;
        case "map":
          return `[${type.keys.map((key, i) => `${show(type.key, key)} -> ${show(type.of, value[i])}`).join(", ")}]`;
        default: throw new TypeError(`no type ${type.is}`);
      }
    }

    function itf(number, value) {
      const type = types[number];
      const big = (n) => ({ "#bigint": String(n) });
      const nothing = { "#tup": [] };
      const fields = (values) =>
        type.fields.length ? Object.fromEntries(type.fields.map(([name, of], i) => [name, itf(of, values[i])])) : nothing;
      switch (type.is) {
        case "bool": return Boolean(value);
        case "int": return big(value);
        case "enum": case "sort": return type.names[value];
        case "option":
          return value === null ? { tag: "None", value: nothing } : { tag: "Some", value: itf(type.of, value) };
        case "record": return fields(value);
        case "case": return { tag: type.name, value: fields(value.slice(1)) };
        case "union": return itf(type.cases[value[0]], value);
        case "tuple": return { "#tup": type.items.map((of, i) => itf(of, value[i])) };
        case "seq": return value.map((each) => itf(type.of, each));
        case "set": return { "#set": value.map((each) => itf(type.of, each)) };
        case "bag": return { "#map": value.map(([each, many]) => [itf(type.of, each), big(many)]) };
        case "map": return { "#map": type.keys.map((key, i) => [itf(type.key, key), itf(type.of, value[i])]) };
        default: throw new TypeError(`no type ${type.is}`);
      }
    }

    // A step as people name it: `crash(b1)`, `deliver | m = Vote(term = 1)`.
    function name(record) {
      const args = record.params.map((each) => show(each.type, each.value)).join(", ");
      const choices = record.choices.map((each) => `${each.name} = ${show(each.type, each.value)}`).join(", ");
      return record.action + (args && `(${args})`) + (choices && ` | ${choices}`);
    }

    // The model's sentence about a step, with its values; its name where the sentence has none.
    function says(record, sentence) {
      if (record.text !== undefined) return record.text;
      if (!sentence || !record.said) return name(record);
      const values = record.said.map((each) => show(each.type, each.value));
      return sentence.map((part) => (part === null ? values.shift() : part)).join("");
    }

    return { show, itf, name, says };
  }

  // A normal form of ITF, so that two texts are equal where they mean the same: plain numbers, members and keys in order.
  function plain(json) {
    if (json === undefined) return "";
    if (typeof json === "number") return `n${json}`;
    if (json === null || typeof json !== "object") return JSON.stringify(json);
    if (Array.isArray(json)) return `[${json.map(plain).join()}]`;
    if ("#bigint" in json) return `n${json["#bigint"]}`;
    for (const kind of ["#set", "#map"]) if (Array.isArray(json[kind])) return `${kind}(${json[kind].map(plain).sort().join()})`;
    if ("#tup" in json) return `(${json["#tup"].map(plain).join()})`;
    return `{${Object.keys(json).sort().map((key) => `${JSON.stringify(key)}:${plain(json[key])}`).join()}}`;
  }

  return { compare, decode, equal, of, ones, plain };
})();
