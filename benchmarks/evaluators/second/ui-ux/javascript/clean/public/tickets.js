const told = document.querySelector("#told");
const visits = document.querySelector("#visits");

for (const button of document.querySelectorAll(".buy:not(:disabled)")) {
  button.addEventListener("click", () => {
    button.disabled = true;
    told.textContent = `${visits.value} in the basket`;
  });
}
