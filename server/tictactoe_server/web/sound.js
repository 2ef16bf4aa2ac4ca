/** Tones for events, played only after the first click or key, as browsers require. */

/** @type {Record<string, [hertz: number, start: number, seconds: number][]>} */
const TONES = {
	move: [[420, 0, 0.07]],
	turn: [[520, 0, 0.08], [700, 0.09, 0.11]],
	win: [[523, 0, 0.14], [659, 0.13, 0.14], [784, 0.26, 0.28]],
	lose: [[392, 0, 0.18], [311, 0.17, 0.3]],
};
const LOUDNESS = 0.12;

export class Sound {
	isOn = false;
	/** @type {AudioContext | null} */
	#context = null;

	play(name = "") {
		if (!this.isOn || !navigator.userActivation?.hasBeenActive) return;
		const context = (this.#context ??= new AudioContext());
		for (const [hertz, start, seconds] of TONES[name]) {
			const at = context.currentTime + start;
			const tone = new OscillatorNode(context, { type: "triangle", frequency: hertz });
			const volume = new GainNode(context, { gain: LOUDNESS });
			volume.gain.setTargetAtTime(0, at, seconds / 3);
			tone.connect(volume).connect(context.destination);
			tone.start(at);
			tone.stop(at + seconds);
		}
	}
}
