/** What a log line says of an error. */
export type ErrorFields = {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly status?: number;
  readonly stack?: string;
  readonly cause?: ErrorFields;
  readonly errors?: readonly ErrorFields[];
};

/** A chain of causes is followed so far; a longer one is a loop. */
const MAX_DEPTH = 8;

/** More members of an AggregateError fit into no line, and each costs a stack. */
const MAX_MEMBERS = 32;

/**
 * An error as plain fields, with its chain of causes and the first members of an AggregateError. Nothing else that
 * hangs on it is taken: HTTP clients attach requests, and with them the token that the request carried.
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
    // An error with a code is an outcome that somebody foresaw; one without is a bug, and its stack says where.
    ...(code !== undefined || error.stack === undefined ? {} : { stack: error.stack }),
    ...(deeper && error.cause !== undefined ? { cause: errorFields(error.cause, depth - 1) } : {}),
    ...(deeper && error instanceof AggregateError
      ? { errors: error.errors.slice(0, MAX_MEMBERS).map((member) => errorFields(member, depth - 1)) }
      : {}),
  };
}
