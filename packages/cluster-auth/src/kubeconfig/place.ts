import { dirname, resolve } from 'node:path';
import type { PemSource } from '../trust/pem.ts';
import { entryAt, type EntryPlace } from './context.ts';

/** How errors name the fields of a kubeconfig's entry, and where its files are. */
export type Place = {
  readonly where: (field: string) => string;
  /** The path of a file; relative ones begin at the folder of the entry's kubeconfig. */
  readonly file: (name: string) => string;
};

/** @param path of the kubeconfig that has the entry */
export function placeOf(kind: 'cluster' | 'user', place: EntryPlace): Place {
  return {
    where: (field) => `${entryAt(kind, place)}: ${field}`,
    file: (file) => resolve(dirname(place.path), file),
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
