// The compiled learners (learners.cpp), and how rows reach them: predicted at once, learned when the label has come.

const LEARNERS = ["AutoClassifier", "WindowForest", "NoChange"]; // in the order of composition.py

async function loadKernels(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const absent = () => { throw new Error("The kernels have no files."); };
  const wasi = { fd_close: absent, fd_seek: absent, fd_write: absent }; // linked, but not called
  const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi });
  instance.exports._initialize();
  return instance.exports;
}

class Learner {
  // `rows`: as many are learned, and then nothing more.
  constructor(kernels, name, rows = Infinity) {
    Object.assign(this, { kernels, rows, learned: 0, predicted: 0, pending: [] });
    this.model = kernels.make(LEARNERS.indexOf(name));
  }
  discard() { this.kernels.discard(this.model); }

  get frozen() { return this.learned >= this.rows; }

  // The prediction of a row (-1: none yet) whose label comes `delay` rows later, in whose place others are learned.
  take(x, label, delay) {
    if (delay === 0 && this.pending.length === 0 && !this.frozen) {
      this.learned++;
      return this.kernels.step(this.model, ...x, label);
    }
    const place = this.predicted++ % (Learner.mostDelay + 1);
    const prediction = this.kernels.predict(this.model, ...x, place);
    this.pending.push({ x, label, place });
    while (this.pending.length > delay) {
      const late = this.pending.shift();
      if (this.frozen) continue;
      this.kernels.learn(this.model, ...late.x, late.label, late.place);
      this.learned++;
    }
    return prediction;
  }

  // The probability of class 1.
  probability(x) { return this.kernels.probability(this.model, ...x); }
}
Learner.mostDelay = 500;
