import { dirname, resolve } from 'node:path';
import type { PemSource } from '../trust/pem.ts';
import type { KubeconfigContext } from './context.ts';

/** How the fields of a kubeconfig's context are named in errors, and where the files are that it names. */
export type Place = {
  readonly cluster: (field: string) => string;
  readonly user: (field: string) => string;
  /** A relative path is relative to the kubeconfig's folder. */
  readonly file: (name: string) => string;
};

/** @param path of the kubeconfig */
export function placeOf(path: string, { clusterName, userName }: KubeconfigContext): Place {
  return {
    cluster: (field) => `kubeconfig ${path}: cluster "${clusterName}": ${field}`,
    user: (field) => `kubeconfig ${path}: user "${userName}": ${field}`,
    file: (name) => resolve(dirname(path), name),
  };
}

/** The two ways to give a PEM: a field with a file's name, and the same with `-data`, the content in base64. */
export function pemSource(
  where: string,
  { file, data }: { readonly file: string | undefined; readonly data: string | undefined },
  place: Place,
): PemSource | undefined {
  if (data !== undefined) return { text: Buffer.from(data, 'base64').toString('utf8'), where: `${where}-data` };
  return file === undefined ? undefined : { path: place.file(file) };
}
