// Tic-tac-toe for two on boardgame.io: its own server, storage in memory and socket.io. A match goes on with a rematch.

import { createRequire } from "node:module";
import { hasLine } from "./lines.mjs";

const require = createRequire(import.meta.url);
const { Server, Origins } = require("boardgame.io/server");
const { INVALID_MOVE } = require("boardgame.io/core");

const newGame = () => ({ board: Array(9).fill(null), ply: 0, agreed: 0, isOver: false });

const table = {
  name: "table",
  setup: newGame,
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    move: ({ G, playerID }, cell) => {
      if (G.isOver || G.board[cell] !== null) return INVALID_MOVE;
      G.board[cell] = playerID;
      G.ply += 1;
      G.isOver = G.ply === 9 || hasLine(G.board);
    },
    rematch: ({ G }) => {
      if (!G.isOver) return INVALID_MOVE;
      G.agreed += 1;
      if (G.agreed === 2) Object.assign(G, newGame());
    },
  },
};

const server = Server({ games: [table], origins: [Origins.LOCALHOST] });
const { appServer } = await server.run({ port: { host: "127.0.0.1", port: 0 } });
console.log(`http://127.0.0.1:${appServer.address().port}`);
