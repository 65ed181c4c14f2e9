import { badRequest } from '../http/status.ts';

/** Where the next page of a list starts. */
export type ContinueToken = {
  /** The revision of the list that the page belongs to; `inconsistent` asks for whatever is there now. */
  readonly revision: number | 'inconsistent';
  /** The first key of the page; it needn't exist. */
  readonly start: string;
};

// The form of kube-apiserver's own tokens, in which -1 stands for "inconsistent".
const version = 'meta.k8s.io/v1';

export function encodeContinue({ revision, start }: ContinueToken): string {
  const token = { v: version, rv: revision === 'inconsistent' ? -1 : revision, start };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** @throws {ApiError} 400 for anything that isn't a token of ours */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  if (v !== version || typeof rv !== 'number' || typeof start !== 'string') throw invalidToken();
  return { revision: rv === -1 ? 'inconsistent' : rv, start };
}

function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  } catch {
    // Whatever is wrong with it, the client made it up.
    throw invalidToken();
  }
}

const invalidToken = () => badRequest('invalid continue token: continue key is not valid');
