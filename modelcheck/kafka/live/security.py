"""How to connect: the client's properties file that Kafka's own tools take with `--command-config`.

NOTE(secrets): no error shows a line of this file, and no value of it but the names of mechanisms and paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import NoReturn

from modelcheck.kafka.settings.readers.formats.properties import read_properties
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.source import Source

PLAIN = "PLAIN"
MECHANISMS = (PLAIN, "SCRAM-SHA-256", "SCRAM-SHA-512")
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_PEM = "PEM"
_STORE = ("keystore", "truststore")
_LOGIN = re.compile(r"\s*(?P<module>[\w.$]+)\s+\w+\s+(?P<options>.*?);?\s*", re.DOTALL)
_OPTION = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONVERT = {
    "truststore": "keytool -list -rfc -keystore STORE > ca.pem writes its certificates",
    "keystore": "openssl pkcs12 -in STORE -nodes -out client.pem writes its key and certificates "
    "(a JKS first: keytool -importkeystore -srckeystore STORE -destkeystore STORE.p12)",
}


@frozen
class Credentials:
    """A user of SASL; the password is in no representation."""

    mechanism: str
    username: str
    password: str = field(repr=False)


@frozen
class Security:
    """How connections are made: TLS or not, the user, and the certificates in PEM.

    `authorities` is the path of a file, `authorities_text` the certificates themselves; with neither the
    system's count.  `identity` is the path of a file with the client's key and certificates.
    """

    tls: bool = False
    user: Credentials | None = None
    authorities: str = ""
    authorities_text: str = field(default="", repr=False)
    identity: str = ""
    identity_password: str = field(default="", repr=False)
    check_host: bool = True


def read_security(name: str, text: str) -> Security:
    """How a client's properties file says to connect. Raises SpecError (R0762); see NOTE(secrets)."""
    found = read_properties(Source(name, text))
    if found.problems:
        _refuse(name, "is no properties file: a backslash in it begins no escape that Java knows")
    given = {key: value.strip() for key, value in found.last().items()}
    if "config.providers" in given:
        advice = "write the values themselves into a file that only you can read"
        _refuse(name, "names `config.providers`, which only a client in Java can ask", advice)
    protocol = given.get("security.protocol", PROTOCOLS[0]).upper()
    if protocol not in PROTOCOLS:
        _refuse(name, "sets no known `security.protocol`", f"it is one of {', '.join(PROTOCOLS)}")
    security = _tls(name, given) if protocol.endswith("SSL") else Security()
    return replace(security, user=_user(name, given)) if protocol.startswith("SASL") else security


def _user(name: str, given: Mapping[str, str]) -> Credentials:
    """The user that the file gives."""
    mechanism = given.get("sasl.mechanism", "GSSAPI").upper()
    if mechanism not in MECHANISMS:
        known = mechanism if re.fullmatch(r"[A-Z0-9_-]{1,20}", mechanism) else "another"
        advice = f"{', '.join(MECHANISMS)} are; give a user of one of these, which may only describe"
        _refuse(name, f"asks for the SASL mechanism {known}, which is not supported here", advice)
    login = _LOGIN.fullmatch(given.get("sasl.jaas.config", ""))
    options = {} if login is None else dict(map(_option, _OPTION.finditer(login["options"])))
    if not options.get("username") or "password" not in options:
        module = "plain.Plain" if mechanism == PLAIN else "scram.Scram"
        form = (
            f'sasl.jaas.config=org.apache.kafka.common.security.{module}LoginModule required username="…" '
            'password="…";'
        )
        _refuse(name, "has no user and password in `sasl.jaas.config`", f"write {form}")
    return Credentials(mechanism, options["username"], options["password"])


def _option(found: re.Match[str]) -> tuple[str, str]:
    """An option of a login module, unquoted."""
    quoted = found[2] if found[2] is not None else found[3]
    return found[1], found[4] if quoted is None else _ESCAPED.sub(r"\1", quoted)


def _tls(name: str, given: Mapping[str, str]) -> Security:
    """The certificates that the file gives, which have to be PEM."""
    for store in _STORE:
        kind = given.get(f"ssl.{store}.type", "JKS").upper()
        if given.get(f"ssl.{store}.location") and kind != _PEM:
            advice = f"{_CONVERT[store]}; then write ssl.{store}.type=PEM and ssl.{store}.location=that file"
            _refuse(name, f"names a {store} of Java ({_kind(kind)}), and only PEM is read here", advice)
    if given.get("ssl.keystore.key"):
        advice = "write the key and the certificates into one file: ssl.keystore.type=PEM, and its location"
        _refuse(name, "has the client's key in `ssl.keystore.key`", advice)
    return Security(
        tls=True,
        authorities=given.get("ssl.truststore.location", ""),
        authorities_text=given.get("ssl.truststore.certificates", ""),
        identity=given.get("ssl.keystore.location", ""),
        identity_password=given.get("ssl.key.password", ""),
        check_host=given.get("ssl.endpoint.identification.algorithm", "https") != "",
    )


def _kind(text: str) -> str:
    """The type of a key store, if it is a known one."""
    return text if text in {"JKS", "PKCS12", "BCFKS"} else "another type"


def _refuse(name: str, message: str, advice: str = "") -> NoReturn:
    """Raise the SpecError about the file, without a line of it."""
    raise SpecError([Diagnostic("R0762", Source(name, ""), None, f"this file {message}", help=advice)])
