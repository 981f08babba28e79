// Looks at the page for what stands in the way of somebody who cannot see it well, or at all: a list of complaints.
() => {
  const found = [];
  const told = (element) => `<${element.tagName.toLowerCase()} class="${element.className}"> ${element.textContent.trim().slice(0, 40)}`;
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // Everything that can be used has a name.
  const named = (element) => {
    const by = (element.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
    const label = by.map((id) => document.getElementById(id)?.textContent ?? "").join(" ")
      || element.getAttribute("aria-label")
      || [...(element.labels ?? [])].map((one) => one.textContent).join(" ")
      || (["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) ? "" : element.textContent)
      || [...element.querySelectorAll("img[alt], [aria-label]")].map((one) => one.alt ?? one.ariaLabel).join(" ")
      || element.title;
    return label.trim() !== "";
  };
  const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=slider], [role=button], [tabindex='0']";
  for (const element of document.querySelectorAll(usable)) {
    if (seen(element) && !named(element)) found.push(`no name: ${told(element)}`);
  }
  for (const image of document.querySelectorAll("img:not([alt])")) found.push(`no alt: ${image.src}`);
  for (const picture of document.querySelectorAll("svg")) {
    if (!picture.closest("[aria-hidden=true], [role=img][aria-label], [aria-label]")) found.push(`a picture without words: ${told(picture)}`);
  }

  // Landmarks, one first heading, no number used twice.
  for (const one of ["header", "nav", "main", "h1"]) {
    if (![...document.querySelectorAll(one)].some(seen)) found.push(`no <${one}>`);
  }
  if (document.querySelectorAll("h1").length > 1) found.push("more than one <h1>");
  if (!document.documentElement.lang) found.push("no language");
  const ids = new Set();
  for (const { id } of document.querySelectorAll("[id]")) {
    if (ids.has(id)) found.push(`id used twice: ${id}`);
    ids.add(id);
  }

  // Text can be read: 4.5 to 1, or 3 to 1 where it is large.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const channels = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, ground) => top.slice(0, 3).map((value, place) => value * top[3] + ground[place] * (1 - top[3]));
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const layer = channels(getComputedStyle(one).backgroundColor);
      layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const looked = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || looked.has(element) || element.closest("svg, option, template")) continue;
    looked.add(element);
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!seen(element) || box.width <= 1 || element.closest(":disabled, .sr-only, .skip")) continue;
    const below = ground(element);
    const [a, b] = [light(over(channels(style.color), below)), light(below)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (large ? 3 : 4.5)) found.push(`contrast ${contrast.toFixed(2)}: ${told(element)}`);
  }
  return found;
}
