// The types that most modules of the page name, each as its own module has it.
type App = import("./app.js").App;
type Ask = import("./requests.js").Ask;
type Choices = import("./choices.js").Choices;
type Connection = import("./connection.js").Connection;
type Deed = import("./choices.js").Deed;
type Following = import("./events/following.js").Following;
type GamePage = import("./game.js").GamePage;
type Look = import("./shapes.js").Look;
type News = import("./app.js").News;
type Page = import("./app.js").Page;
type Room = import("./room.js").Room;
type ShownGame = import("./scene.js").ShownGame;
type Whole = import("./events/following.js").Whole;
type Worths = import("./worth.js").Worths;
