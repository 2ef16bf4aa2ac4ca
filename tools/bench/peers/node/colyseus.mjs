// Tic-tac-toe for two on Colyseus: a schema state, whose patch is sent at once after every message.

import { Room, Server } from "@colyseus/core";
import { schema } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { hasLine } from "./lines.mjs";

const Game = schema({ ply: "uint8", agreed: "uint8", first: "uint8", isOver: "boolean", board: ["uint8"] });

class Table extends Room {
  maxClients = 2;
  patchRate = null;
  state = new Game({ ply: 0, agreed: 0, first: 0, isOver: false, board: Array(9).fill(0) });
  seats = [];

  onCreate() {
    this.onMessage("move", (client, { cell, ply }) => this.move(client, cell, ply));
    this.onMessage("rematch", (client) => this.rematch(client));
  }

  onJoin(client) {
    this.seats.push(client.sessionId);
  }

  move(client, cell, ply) {
    const game = this.state;
    const turn = (game.first + game.ply) % 2;
    if (game.isOver || ply !== game.ply || this.seats[turn] !== client.sessionId || game.board[cell] !== 0) {
      client.send("error", "not now, or not there");
      return;
    }
    game.board[cell] = turn + 1;
    game.ply += 1;
    game.isOver = game.ply === 9 || hasLine(game.board);
    this.broadcastPatch();
  }

  rematch(client) {
    const game = this.state;
    const asked = 1 << this.seats.indexOf(client.sessionId);
    if (!game.isOver || game.agreed & asked) {
      client.send("error", "not now");
      return;
    }
    game.agreed |= asked;
    if (game.agreed === 3) {
      game.board.forEach((_, cell) => (game.board[cell] = 0));
      Object.assign(game, { ply: 0, agreed: 0, first: 1 - game.first, isOver: false });
    }
    this.broadcastPatch();
  }
}

const transport = new WebSocketTransport();
const server = new Server({ transport, greet: false });
server.define("table", Table);
await server.listen(0, "127.0.0.1");
console.log(`http://127.0.0.1:${transport.server.address().port}`);
