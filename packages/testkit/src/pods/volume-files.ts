import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Item } from './pod-spec.ts';

/** Files of a folder: contents by their paths in it. */
export type FolderFiles = Readonly<Record<string, Buffer>>;

/** What a ConfigMap holds, by its keys. */
export function dataOfConfigMap({ data = {}, binaryData = {} }: KubeObject): FolderFiles {
  return { ...decoded(data, 'utf8'), ...decoded(binaryData, 'base64') };
}

/** What a Secret holds, by its keys. */
export const dataOfSecret = ({ data = {} }: KubeObject): FolderFiles => decoded(data, 'base64');

/**
 * The files of a volume: one for each key, or those that `items` name.
 *
 * @throws {Error} if an item names a missing key
 */
export function selectItems(data: FolderFiles, items: readonly Item[] | undefined): FolderFiles {
  if (items === undefined) return data;
  return Object.fromEntries(
    items.map(({ key, path }) => {
      const content = data[key];
      if (content === undefined) throw new Error(`a volume asks for the key ${key}, which isn't there`);
      return [path, content];
    }),
  );
}

function decoded(data: unknown, encoding: 'utf8' | 'base64'): FolderFiles {
  return Object.fromEntries(
    Object.entries(data as Record<string, string>).map(([key, text]) => [key, Buffer.from(text, encoding)]),
  );
}
