/** Short sound for new requests. Off until somebody turns it on; the choice is remembered. */

import { recall, remember } from '../../lib/settings';

class Sound {
  on = $state(recall('sound') === 'on');
  #context: AudioContext | undefined;

  /** Call it in a click: browsers allow sound only then. */
  toggle = (): void => {
    this.on = !this.on;
    remember('sound', this.on ? 'on' : undefined);
    if (this.on) this.beep();
  };

  beep = (): void => {
    if (!this.on) return;
    try {
      const context = (this.#context ??= new AudioContext());
      const asked = Date.now();
      void context.resume().then(
        // A browser that waits for a click resumes much later: that click is not about this request.
        () => Date.now() - asked < 1000 && this.#play(context),
        () => {},
      );
    } catch {
      // A browser without sound shows the number in the title.
    }
  };

  #play(context: AudioContext): void {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const now = context.currentTime;
    tone.frequency.setValueAtTime(660, now);
    tone.frequency.setValueAtTime(880, now + 0.12);
    volume.gain.setValueAtTime(0.0001, now);
    volume.gain.exponentialRampToValueAtTime(0.15, now + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, now + 0.3);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.32);
  }
}

export const sound = new Sound();
