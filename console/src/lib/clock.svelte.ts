/** One clock for all relative times of the page. */

class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 5000);
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.now = Date.now();
    });
  }
}

export const clock = new Clock();
