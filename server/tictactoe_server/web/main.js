import { greeting } from "./words.js";

const page = document.getElementById("page");
if (page) page.textContent = greeting;
