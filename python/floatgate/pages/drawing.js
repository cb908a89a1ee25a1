  // Everything that a page draws. Each part draws the visible plots that are not drawn yet;
  // `window.drawn` resolves once all parts have. A new width or theme makes all parts forget, and
  // draw again.
  const drawing = [];
  const drawVisible = () => { window.drawn = Promise.all(drawing.map((part) => part.draw())); };
  const drawAgain = () => { for (const part of drawing) part.forget(); drawVisible(); };
  const addDrawing = (draw, forget = () => {}) => { drawing.push({ draw, forget }); drawVisible(); };
  let drawnAt = innerWidth, resizing = 0;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      if (innerWidth !== drawnAt) { drawnAt = innerWidth; drawAgain(); }
    }, 200);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", drawAgain);
  // An event `toggle` does not bubble: it is caught on its way down, also for details added later.
  document.addEventListener("toggle", drawVisible, true);
  drawVisible();
