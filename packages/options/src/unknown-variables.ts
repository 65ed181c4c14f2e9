import { nearest } from './nearest.ts';
import { retirementOf, type Retired } from './program.ts';
import type { AnySpec } from './table.ts';

/** Variables that kubelet sets in each container for a Service called `sp`: `SP_SERVICE_HOST`, `SP_PORT_80_TCP_ADDR`. */
const OF_A_SERVICE = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)$/;

/**
 * Variables that have the prefix of a table's, and are in no row of it. They have no effect, and one that was meant as
 * a limit must not be ignored in silence.
 *
 * @returns sentences for the log, which repeat no value: it may be a secret
 */
export function unknownVariables(
  rows: readonly (readonly [unknown, AnySpec])[],
  env: Readonly<Record<string, string | undefined>>,
  retired: readonly Retired[] = [],
): string[] {
  const known = new Set(rows.flatMap(([, { env: variable, aliases = [] }]) => [variable, ...aliases]));
  const prefixes = new Set([...known].map(prefixOf));
  return Object.keys(env).flatMap((name) => {
    if ((env[name] ?? '') === '' || known.has(name) || OF_A_SERVICE.test(name)) return [];
    const retirement = retirementOf(retired, name);
    if (retirement !== undefined) return [`${name} ${retirement}`];
    if (!prefixes.has(prefixOf(name))) return [];
    const meant = nearest(name, known);
    return [`unknown variable ${name}${meant === undefined ? '' : `, did you mean ${meant}?`}`];
  });
}

/** `SP_` of `SP_LOG_LEVEL`, with the underscore; empty if there isn't one. */
const prefixOf = (variable: string): string => variable.slice(0, variable.indexOf('_') + 1);
