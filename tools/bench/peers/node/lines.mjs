// The rules that both servers play by: three in a row of three by three.

const LINES = [
  [0, 1, 2], [3, 4, 5], [6, 7, 8],
  [0, 3, 6], [1, 4, 7], [2, 5, 8],
  [0, 4, 8], [2, 4, 6],
];

export const hasLine = (board) => LINES.some(([a, b, c]) => board[a] && board[a] === board[b] && board[a] === board[c]);
