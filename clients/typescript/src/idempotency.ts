/** Idempotency keys: a request that is repeated with the same key has one effect. */

/** Returns a random idempotency key. */
export function newKey(): string {
  // Not `crypto`: node 18 has none, and browsers have `randomUUID` only in secure contexts. The key must be unique, but is no secret.
  return Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}
