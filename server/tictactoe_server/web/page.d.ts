// The types that most modules of the page name, each as its own module has it.
type App = import("./app.js").App;
type Choices = import("./choices.js").Choices;
type Look = import("./shapes.js").Look;
type News = import("./app.js").News;
type Page = import("./app.js").Page;
type Room = import("./room.js").Room;
type ShownGame = import("./scene.js").ShownGame;
