"use strict";
(() => {
  const holder = document.getElementById("figures");
  const figures = holder ? JSON.parse(holder.textContent) : {};
  const paper = matchMedia("print");
  const colorKeys = /color(scale)?$/;
  const narrow = matchMedia("(max-width: 48rem)");

  // The figures name colours of the palette; which ones these are, the page's style decides.
  const paint = (value, key, style) => {
    if (Array.isArray(value)) {
      if (typeof value[0] !== "object" && !colorKeys.test(key)) return value;
      return value.map((item) => paint(item, key, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, paint(v, k, style)]));
    }
    if (typeof value !== "string" || !colorKeys.test(key)) return value;
    return style.getPropertyValue("--" + value).trim();
  };

  const layoutOf = (figure, style) => {
    const own = paint(figure.layout, "", style);
    const color = style.getPropertyValue("--ink").trim();
    const rule = style.getPropertyValue("--rule").trim();
    const axis = { gridcolor: rule, linecolor: rule, zerolinecolor: rule, automargin: true };
    const strip = figure.data.some((trace) => trace.yaxis === "y3");
    const layout = {
      ...own,
      autosize: true,
      font: { color, family: "system-ui, sans-serif", size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { t: 24, r: 8, b: 40, l: 8 },
      hoverlabel: { bgcolor: style.getPropertyValue("--panel").trim(), font: { color } },
      // A legend of more than this scrolls, but for paper, which can't.
      legend: {
        orientation: "h", y: 1.08, yanchor: "bottom", x: 0, tracegroupgap: 0,
        font: { size: narrow.matches ? 10 : 12 }, maxheight: paper.matches ? 1 : 0.25,
      },
      showlegend: true,
      separators: ".,",
      modebar: { bgcolor: style.getPropertyValue("--paper").trim(), color: rule, activecolor: color },
    };
    for (const name of Object.keys(own).filter((key) => key.includes("axis"))) {
      layout[name] = { ...axis, ...own[name] };
    }
    if (strip) {
      layout.yaxis = { ...layout.yaxis, domain: [0.06, 1] };
      layout.yaxis3 = { domain: [0, 0.04], visible: false, fixedrange: true };
      layout.xaxis.anchor = "y3";
    }
    if (narrow.matches && layout.yaxis2) layout.yaxis2 = { ...layout.yaxis2, visible: false };
    return layout;
  };

  // Plots are drawn as they come near the window: a long page opens as quickly as a short one.
  const near = new Set();
  const draw = (names) => {
    if (!window.Plotly) return;
    const style = getComputedStyle(document.documentElement);
    for (const name of names) {
      const figure = figures[name];
      Plotly.react("plot-" + name, paint(figure.data, "", style), layoutOf(figure, style), {
        responsive: true,
        displaylogo: false,
        displayModeBar: !narrow.matches && "hover",
        // The last one would send what is on the page to a server.
        modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"],
      });
      near.add(name);
    }
  };
  const again = () => draw(near);
  const approach = new IntersectionObserver((entries) => {
    const arrived = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
    arrived.forEach((place) => approach.unobserve(place));
    draw(arrived.map((place) => place.id.slice("plot-".length)));
  }, { rootMargin: "50%" });

  if (window.Plotly) {
    for (const place of document.querySelectorAll(".plot")) {
      place.replaceChildren();
      approach.observe(place);
    }
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  narrow.addEventListener("change", again);
  paper.addEventListener("change", () => draw(Object.keys(figures)));

  // On paper nothing can be unfolded.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((details) => { details.open = true; });
    draw(Object.keys(figures));
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((details) => { details.open = false; });
  });

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        // Where a page may not use the clipboard the text is selected, ready to be copied by hand.
        getSelection().selectAllChildren(source);
        button.textContent = "Selected";
      }
    });
  }
})();
