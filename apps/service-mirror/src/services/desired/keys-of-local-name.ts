import { isDnsLabel } from '@kube-semaphore/naming';
import { globalKey, mirrorKey, mirrorPrefixLabel, parseServiceKey, separator, sourceAnnotation } from '../../names.ts';
import type { ObservedService } from '../../endpoints/desired/observed.ts';

/** A prefix of local Services, and the key of a Service with that prefix. */
type Prefix = { readonly prefix: string; readonly keyOf: (namespace: string, name: string) => string };

/**
 * The keys that a local Service of this name may be for: several if the separator is in it twice, or if one prefix
 * begins with another. Empty for a name that we would never use.
 *
 * @param prefixes of the remotes, by cluster
 */
export function keysOfLocalName(localName: string, prefixes: ReadonlyMap<string, string>): readonly string[] {
  const mirrors = Array.from(prefixes, ([cluster, prefix]): Prefix => ({
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
 * The keys that a local Service may have been made for: the one in its annotation, or, if a Go program made it, those
 * that its name and prefix allow. Empty for a Service that isn't ours.
 */
export function sourcesOf(
  { name, labels, annotations }: Pick<ObservedService, 'name' | 'labels' | 'annotations'>,
  prefixes: ReadonlyMap<string, string>,
): readonly string[] {
  const source = annotations[sourceAnnotation];
  if (source !== undefined) return parseServiceKey(source) === undefined ? [] : [source];
  return keysOfLocalName(name, new Map([...prefixes].filter(([, prefix]) => prefix === labels[mirrorPrefixLabel])));
}

/** All ways to read `a-73736d-b` as namespace and name. */
function splits(text: string): readonly (readonly [string, string])[] {
  const between = `-${separator}-`;
  const found: [string, string][] = [];
  for (let at = text.indexOf(between); at !== -1; at = text.indexOf(between, at + 1)) {
    const [namespace, name] = [text.slice(0, at), text.slice(at + between.length)];
    if (isDnsLabel(namespace) && isDnsLabel(name)) found.push([namespace, name]);
  }
  return found;
}
