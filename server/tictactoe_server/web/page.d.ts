// The types that more than one module of the page names. Those of what is sent are in docs/schema/protocol.d.ts.

type State = Protocol.RoomState & { moves: Moves };
type Rules = Protocol.RulesState;
type EventState = Protocol.EventState;
type EventRow = Protocol.EventRow;
type Pairing = Protocol.EventPairing;
type LiveBoard = Protocol.LiveBoard;
type SeatState = Protocol.SeatState;
type ChatLine = Protocol.ChatLine;
type Welcome = Protocol.Welcome;
type PlayedGame = Protocol.PlayedGame;
type EventMatch = Protocol.EventMatch;
type Analysis = Protocol.AnalysisState;
type Ok = Protocol.Ok;
type PastGame = Protocol.PastGame;
type HeldSeat = Protocol.HeldSeat;
type Call = Protocol.Call;

type App = import("./app.js").App;
type Board = ReturnType<typeof import("./board.js").makeBoard>;
type DayPanel = ReturnType<typeof import("./daygame.js").makeDayPanel>;
type Connection = import("./connection.js").Connection;
type Following = import("./events/following.js").Following;
type GamePage = import("./game.js").GamePage;
type ReviewPanel = ReturnType<typeof import("./review.js").makeReviewPanel>;
type Room = import("./room.js").Room;
type Rooms = import("./rooms.js").Rooms;
type Shapes = ReturnType<typeof import("./shapes.js").makeShapes>;
type Scene = ReturnType<typeof import("./scene.js").sceneOf>;

/** What lives with a page, from its being shown to `close`; `tick` has its clocks run. */
interface PagePart {
	onPhase?(): void;
	onWelcome?(): void;
	onNews?(news: News): void;
	tick?(): void;
	close?(): unknown;
}
/** A page of the site, and what it follows. */
interface Page extends PagePart {
	element: HTMLElement;
	title: string;
	follows?: readonly PagePart[];
	onKey?(event: KeyboardEvent): void;
}

/** What comes that nobody asked for. */
type News = Exclude<Protocol.Push, Protocol.Ok | Protocol.Welcome>;
type LadderNews = Protocol.Challenged | Protocol.ChallengeOver | Protocol.Rated | Welcome;

type Without<R, Key extends string> = R extends Partial<Record<Key, string>> ? Omit<R, Key> : never;
/** What is asked for; the id comes by itself. */
type Ask = Without<Protocol.Request, "id">;
/** What is asked for in a room, whose code comes by itself, too. */
type AskHere = Ask extends infer R ? (R extends { room: string } ? Omit<R, "room"> : never) : never;
/** What lets one into a room. */
type WayIn = Without<Protocol.Create | Protocol.Match | Protocol.Join | Protocol.Watch, "id">;

/** Something that may be done now; `cost` is "abort" or "lose" if it ends the game so. */
type Deed = { name: string; cost: string; actor?: string };

/** Cells in order: those of a game, or a few of them. */
type Moves = readonly number[];
/** An event in the news of a state, or "missed": so many moves were not told. */
type Happening = Protocol.Happening & { moves?: number };

/** A game as it is shown: that of a live room, or one that was kept. `pending` is a move that is on its way. */
interface ShownGame {
	code: string;
	state: State | null;
	viewer: string;
	seat: string | null;
	plays: boolean;
	receivedAt: number;
	pending: { cell: number; ply: number } | null;
	ended: "" | "left" | "closed" | "moved" | "replaced" | "card";
	isLive: boolean;
	closedReason?: string;
}

/** Where the server is that has a room and nobody answers: another was asked to take it over, or refused that, and said why. */
interface Unanswered {
	url: string;
	step: "" | "asked" | "refused";
	why?: string;
}

/**
 * What the page shows besides the state: `here` is the number of moves in the displayed position, null for the newest
 * one. The state came `passed` ms ago; `trouble` describes the connection.
 */
interface View {
	here: number | null;
	typed: string;
	passed: number;
	isOffline: boolean;
	trouble?: string;
	unanswered?: Unanswered | null;
	onlyWatches?: boolean;
	isReviewing: boolean;
	values?: Worths | null;
	maySharePast?: boolean;
	mayNotify?: boolean;
}

/** A button, by the name of what it does; `is_more` if it belongs in the menu. */
type Answer = { name: string; label: string; is_main?: boolean; is_more?: boolean };
/** What waits for an answer. */
type Asked = { id: string; text: string; answers: Answer[] };

/**
 * What a board shows: `turn` is the mark that a move would set, `pending` the cell of a move that is on its way,
 * `values` what the cells are worth, of which the best are always shown and the others where one points, and `isWon`
 * whether who looks has won.
 */
interface BoardView {
	board: string;
	last: number | null;
	line: readonly number[];
	turn: string | null;
	isMine: boolean;
	pending: number | null;
	values: Worths | null;
	isWon: boolean;
}

/** How a board looks: `marks` in squares, `stones` on the crossings of lines, `discs` behind a plate with holes. */
type Look = "marks" | "stones" | "discs";

/** The worth of cells, whether all of them are shown or but the best, and where the last move had better been made, if it gave something away. */
type Worths = { analysis: Analysis; isAll: boolean; better: { mark: string; cells: readonly number[] } | null; draw: (worths: Worths, shapes: Shapes, board: string, pointed: number) => Element[] };
/** What a position was worth, from -1 to 1, and how good the move was that led there. */
type Point = { worth: number; kind: string };
/** Asks what the position after so many moves is worth. */
type Analyse = (ply: number) => Promise<Protocol.AnalysisState>;

/** What happens in a room; `old` is null for the first state; `onMoved` hears that another server has the room now. */
interface RoomEars {
	onUpdate(old: State | null, afterLoss: boolean): void;
	onChat(line: Protocol.ChatLine): void;
	onEnd(): void;
	onMoved(): void;
	onTold(lines: string[]): void;
	onRefusal(message: string, cell: number | null): void;
}

/** A request that is about one tournament, without its code. */
type AboutIt = { type: "event_join" | "event_leave" | "event_ready" | "event_run" | "event_watch" } & Record<string, unknown>;
/** What the organiser does with a tournament. */
type Run = (action: string, about?: Record<string, string>) => unknown;

/**
 * The name and secret of the player, and what one prefers. `tokens` are those of all clusters that were met here, by
 * their ids, the newest last; that of a server of no cluster is under "". `aside` are players that were refused.
 */
/** The rules of a game of one's own, as far as the first page lets one choose them. */
type OwnRules = Pick<Rules, "rows" | "columns" | "line" | "marks" | "blocked" | "misere" | "gravity" | "exact" | "opening">;
interface Kept {
	name: string;
	token: string;
	tokens: Record<string, string>;
	aside?: Aside[];
	asked?: boolean;
	told?: string;
	/** The name of the player's own seat in games with others at this keyboard. */
	here?: string;
	sound: boolean;
	theme: string;
	game: string;
	own: OwnRules;
	clock: string;
}

/** Who says hello: by which name, and what proves it. */
type Known = { name: string; token: string; tokens?: Record<string, string>; aside?: Aside[] };
/** A player that a server did not know, and when it first said so. */
type Aside = { name: string; token: string; at: number };
/** What another device, or an earlier claim of a name, gave for a hello. */
type Codes = { link: string } | { name: string; rescue: string };

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;
/** What an element is made of: attributes, if any, and then what is in it. */
type Part = Attributes | Child | Child[];
/** The tag of `p` and of `p.note`. */
type TagOf<T extends string> = T extends `${infer Name}.${string}` ? Name : T;
type ElementOf<T extends string> = TagOf<T> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<T>] : never;

/** The small board of a game that is on, in its place on a page. */
type LiveCard = { item: HTMLElement; live: LiveBoard; draw(live: LiveBoard): void; tick(): void };

/** Where a game comes from: a room, or what was kept of it; one's own by its id in the history, a shared one by its name there. */
type Source = { code?: string; onlyWatches?: boolean; load?: () => Promise<Protocol.PlayedGame>; past?: string; shared?: string };

// What parts of a page need of whoever has them.

/** What an app needs of the page around it. */
type Around = { navigate(url: string): unknown; onPhase(): void; onWelcome(): void; onNews(news: News): void };
type ConnectionEars = { onPhase(): void; onWelcome(): void; onNews(news: News): void; onIdentity(connection: Connection): void };

type BoardKind = { rows: number; columns: number; marks: string; preset: string | null; gravity?: boolean };
/** Who plays a mark of a pairing, their name as it is shown. */
type Side = [mark: string, player: string, name: string];
/** A request that waits for its answer. */
type Waiting = { resolve: (ok: Ok) => void; reject: (why: Error) => void; timer: number };
