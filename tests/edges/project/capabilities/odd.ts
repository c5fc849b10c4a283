// Values and errors that are easy to get wrong on the way.
export const echo = (params: unknown) => params;

export const nothing = () => null;

export function fail({ reason }: { reason: string }): never {
  throw new CapabilityError(`it failed ${reason}`, { code: 'odd.failed', retryable: true, details: { reason } });
}
