// Where this runs in a worker, it searches for the page.
if (typeof document === "undefined" && typeof self !== "undefined" && self.postMessage) {
  self.onmessage = async ({ data: { code, used, start, options } }) => {
    try {
      const kernel = await Engine.load(code, used);
      const searching = Search.search(kernel, [start], options);
      let reported = 0;
      for (;;) {
        const { done, value } = searching.next();
        if (done) return self.postMessage({ answer: value });
        if (Date.now() - reported > 200) {
          reported = Date.now();
          self.postMessage({ progress: value });
        }
      }
    } catch (error) {
      return self.postMessage({ problem: error.message });
    }
  };
}
