import { isDnsLabel } from '@kube-semaphore/naming';
import { globalKey, mirrorKey, mirrorPrefixLabel, parseServiceKey, separator, sourceAnnotation } from '../names.ts';
import type { ObservedService } from './observed.ts';

/** What begins the names of local Services, and what such a name may be the key of. */
type Beginning = { readonly prefix: string; readonly keyOf: (namespace: string, name: string) => string };

/**
 * The keys that a local Service of this name may stand for: more than one where the separator is in it twice, or where
 * one prefix begins with another. None for what nobody of ours would call so.
 *
 * @param prefixes of the remotes, by cluster
 */
export function keysOfLocalName(localName: string, prefixes: ReadonlyMap<string, string>): readonly string[] {
  const mirrors = Array.from(prefixes, ([cluster, prefix]): Beginning => ({
    prefix,
    keyOf: (namespace, name) => mirrorKey(cluster, namespace, name),
  }));
  return [...mirrors, { prefix: 'gl', keyOf: globalKey }].flatMap(({ prefix, keyOf }) =>
    localName.startsWith(`${prefix}-`)
      ? splits(localName.slice(prefix.length + 1)).map(([namespace, name]) => keyOf(namespace, name))
      : [],
  );
}

/**
 * The keys that a local Service may have been made for: the one that it names, or, where a Go program made it, those that
 * its name and prefix spell. None for what isn't ours.
 */
export function sourcesOf(
  { name, labels, annotations }: Pick<ObservedService, 'name' | 'labels' | 'annotations'>,
  prefixes: ReadonlyMap<string, string>,
): readonly string[] {
  const source = annotations[sourceAnnotation];
  if (source !== undefined) return parseServiceKey(source) === undefined ? [] : [source];
  return keysOfLocalName(name, new Map([...prefixes].filter(([, prefix]) => prefix === labels[mirrorPrefixLabel])));
}

/** `a-73736d-b` as namespace and name, in all ways. */
function splits(text: string): readonly (readonly [string, string])[] {
  const between = `-${separator}-`;
  const found: [string, string][] = [];
  for (let at = text.indexOf(between); at !== -1; at = text.indexOf(between, at + 1)) {
    const [namespace, name] = [text.slice(0, at), text.slice(at + between.length)];
    if (isDnsLabel(namespace) && isDnsLabel(name)) found.push([namespace, name]);
  }
  return found;
}
