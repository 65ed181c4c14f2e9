import { dirname, resolve } from 'node:path';
import type { PemSource } from '../trust/pem.ts';
import type { KubeconfigContext } from './context.ts';

/** How errors name the fields of a kubeconfig's context, and where its files are. */
export type Place = {
  readonly cluster: (field: string) => string;
  readonly user: (field: string) => string;
  /** The path of a file; relative ones begin at the kubeconfig's folder. */
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

/** A PEM from a field with a file's name, or from the field with the suffix `-data`, in base64. */
export function pemSource(
  where: string,
  { file, data }: { readonly file: string | undefined; readonly data: string | undefined },
  place: Place,
): PemSource | undefined {
  if (data !== undefined) return { text: Buffer.from(data, 'base64').toString('utf8'), where: `${where}-data` };
  return file === undefined ? undefined : { path: place.file(file) };
}
