import { badRequest } from '../http/status.ts';

/** Where the next page of a list starts. */
export type ContinueToken = {
  /** The revision of the page's list; `inconsistent` asks for the present objects. */
  readonly revision: number | 'inconsistent';
  /** The first key of the page; the object may be gone. */
  readonly start: string;
};

// The form of kube-apiserver's own tokens, in which -1 stands for "inconsistent".
const version = 'meta.k8s.io/v1';

export function encodeContinue({ revision, start }: ContinueToken): string {
  const token = { v: version, rv: revision === 'inconsistent' ? -1 : revision, start };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** @throws {ApiError} 400 for an invalid token */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  if (v !== version || typeof rv !== 'number' || typeof start !== 'string') throw invalidToken();
  return { revision: rv === -1 ? 'inconsistent' : rv, start };
}

function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  } catch {
    // The server made no such token.
    throw invalidToken();
  }
}

const invalidToken = () => badRequest('invalid continue token: continue key is not valid');
