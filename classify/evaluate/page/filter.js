const form = document.getElementById("filter"), cases = [...document.querySelectorAll(".case")], toggle = document.getElementById("toggle");
function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  let n = 0;
  for (const c of cases) {
    const d = c.dataset;
    const state = !wanted.state || wanted.state === d.state || wanted.state === "notright" && d.state !== "right";
    const fits = state && (!wanted.sure || d.sure === "true") && ["run", "want", "got", "agent", "lang"].every(k => !wanted[k] || wanted[k] === d[k]);
    c.hidden = !fits;
    if (fits) n++;
  }
  document.getElementById("shown").value = n + " of " + cases.length;
  document.getElementById("none").hidden = n > 0;
}
form.addEventListener("change", filter);
form.addEventListener("submit", e => e.preventDefault());
toggle.addEventListener("click", () => {
  const open = toggle.textContent === "open all";
  for (const c of cases) if (!c.hidden || !open) c.open = open;
  toggle.textContent = open ? "close all" : "open all";
});
filter();
