/** What a log line says about an error. */
export type ErrorFields = {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly status?: number;
  readonly stack?: string;
  readonly cause?: ErrorFields;
  readonly errors?: readonly ErrorFields[];
};

/** A longer chain of causes is a loop. */
const MAX_DEPTH = 8;

/** More members of an AggregateError don't fit into a line, and each costs a stack. */
const MAX_MEMBERS = 32;

/**
 * An error as plain fields, with its chain of causes and the first members of an AggregateError. Ignores its other
 * properties: HTTP clients attach requests, and with them the token of the request.
 */
export function errorFields(error: unknown, depth = MAX_DEPTH): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code, status } = error as { code?: unknown; status?: unknown };
  const deeper = depth > 1;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    // An error with a code is an expected outcome; one without is a bug, and needs its stack.
    ...(code !== undefined || error.stack === undefined ? {} : { stack: error.stack }),
    ...(deeper && error.cause !== undefined ? { cause: errorFields(error.cause, depth - 1) } : {}),
    ...(deeper && error instanceof AggregateError
      ? { errors: error.errors.slice(0, MAX_MEMBERS).map((member) => errorFields(member, depth - 1)) }
      : {}),
  };
}
