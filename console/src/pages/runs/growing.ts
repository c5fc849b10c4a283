/** Columns of numbers that grow: a call takes some bytes, not an object. */

type Numbers = Float64Array | Uint32Array | Uint8Array;

export class Growing<A extends Numbers> {
  length = 0;
  #data: A;
  readonly #make: (size: number) => A;

  constructor(make: (size: number) => A) {
    this.#make = make;
    this.#data = make(64);
  }

  /** The numbers; those after `length` have no meaning. Read it again after a `push`. */
  get data(): A {
    return this.#data;
  }

  push(value: number): void {
    if (this.length === this.#data.length) {
      const larger = this.#make(this.length * 2);
      larger.set(this.#data as never);
      this.#data = larger;
    }
    this.#data[this.length++] = value;
  }

  at(index: number): number {
    return index < this.length ? (this.#data[index] ?? NaN) : NaN;
  }

  set(index: number, value: number): void {
    if (index < this.length) this.#data[index] = value;
  }
}

export const doubles = (): Growing<Float64Array> => new Growing((size) => new Float64Array(size));
export const integers = (): Growing<Uint32Array> => new Growing((size) => new Uint32Array(size));
export const bytes = (): Growing<Uint8Array> => new Growing((size) => new Uint8Array(size));
