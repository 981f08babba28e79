// Details of a drawing on hover and focus, and drawings saved as pictures.

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.id = "drawing-tip";
tip.hidden = true;

/** Titles become our own tips, which also show on focus; what a screen reader hears stays the same. */
export function enliven(root) {
  for (const part of root.querySelectorAll(".drawing a")) {
    const title = part.querySelector("title");
    if (!title) continue;
    part.dataset.detail = title.textContent;
    part.setAttribute("aria-label", title.textContent);
    title.remove();
    part.addEventListener("pointerenter", () => show(part));
    part.addEventListener("pointerleave", hide);
    part.addEventListener("focus", () => show(part));
    part.addEventListener("blur", hide);
  }
  hide();
}

function show(part) {
  if (!tip.isConnected) document.body.append(tip);
  tip.textContent = part.dataset.detail;
  tip.hidden = false;
  const box = part.getBoundingClientRect();
  const left = Math.min(Math.max(box.left + box.width / 2 - tip.offsetWidth / 2, 8), innerWidth - tip.offsetWidth - 8);
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
}

function hide() {
  tip.hidden = true;
}

addEventListener("keydown", (event) => event.key === "Escape" && hide());
addEventListener("scroll", hide, { passive: true });

/** The drawing at an address as a PNG of twice its size; light or dark is what the system prefers. */
export async function pngOf(address) {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const url = URL.createObjectURL(new Blob([await response.text()], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = url;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = picture.naturalWidth * 2;
    canvas.height = picture.naturalHeight * 2;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
