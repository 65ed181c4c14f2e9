/** One entry of `details.causes`: which field of an object is wrong, and how. */
export type Cause = { readonly reason: string; readonly message: string; readonly field?: string };

/** The body of an error answer, and of an ERROR event of a watch. */
export type Status = {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Failure';
  readonly message: string;
  /** Absent for errors that kube-apiserver doesn't classify. */
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly Cause[];
    readonly retryAfterSeconds?: number;
  };
  readonly code: number;
};

/** What an error is about: a resource (`kind` of `details` holds its plural name), and the object's name. */
export type Subject = { readonly group: string; readonly plural: string; readonly name?: string };

/** A refusal, thrown by a handler and answered with its HTTP code. */
export class ApiError extends Error {
  readonly status: Status;

  constructor(
    code: number,
    reason: string,
    message: string,
    extra: { details?: NonNullable<Status['details']>; continue?: string } = {},
  ) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: extra.continue === undefined ? {} : { continue: extra.continue },
      status: 'Failure',
      message,
      ...(reason !== '' && { reason }),
      ...(extra.details && { details: extra.details }),
      code,
    };
  }
}

const details = ({ group, plural, name }: Subject) => ({
  ...(name !== undefined && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

const qualified = ({ group, plural }: Subject) => (group === '' ? plural : `${plural}.${group}`);

/** The request is malformed. */
export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

/** An error that kube-apiserver doesn't classify: 500 without a reason. */
export const unexpected = (message: string): ApiError => new ApiError(500, '', message);

/** No such object. */
export const notFound = (subject: Subject): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(subject)} "${subject.name}" not found`, { details: details(subject) });

/** No such resource. */
export const noResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', { details: {} });

/** A verb that the resource doesn't have. */
export const methodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  });

/** The namespace of a new object is being deleted. */
export const namespaceEnds = (subject: Subject, namespace: string): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(subject)} "${subject.name}" is forbidden: unable to create new content in namespace ${namespace} ` +
      'because it is being terminated',
    {
      details: {
        ...details(subject),
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    },
  );

/** The name of a new object is taken. */
export const alreadyExists = (subject: Subject): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(subject)} "${subject.name}" already exists`, {
    details: details(subject),
  });

/** The object has another UID or resourceVersion than the client expects. */
export const conflict = (subject: Subject, why: string): ApiError =>
  new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(subject)} "${subject.name}": ${why}`, {
    details: details(subject),
  });

/** The object breaks a rule of its kind. `kind` is the kind's name here, not the plural. */
export function invalid(group: string, kind: string, name: string, causes: readonly Cause[]): ApiError {
  const sentences = causes.map((cause) =>
    cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`,
  );
  const all = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${group === '' ? kind : `${kind}.${group}`} "${name}" is invalid: ${all}`, {
    details: { ...(name !== '' && { name }), ...(group !== '' && { group }), kind, causes },
  });
}

/** The resourceVersion is older than the server's history. */
export const expired = (message: string, inconsistentContinue?: string): ApiError =>
  new ApiError(410, 'Expired', message, inconsistentContinue === undefined ? {} : { continue: inconsistentContinue });

/** The resourceVersion is in the future, as after etcd was restored from a backup. */
export const tooLargeResourceVersion = (wanted: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
