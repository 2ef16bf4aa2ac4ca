export const greeting = "tictactoe";
