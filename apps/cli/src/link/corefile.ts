const BEGIN = '# semaphore link: begin';
const END = '# semaphore link: end';

/** The block of ours, with its line break. */
const OURS = new RegExp(String.raw`^[ \t]*${BEGIN}\n[^]*?^[ \t]*${END}\n`, 'm');

/** The directive that serves the cluster's own names; its first argument is the domain of the cluster. */
const KUBERNETES = /^([ \t]*)kubernetes[ \t]+([^\s{]+)/gm;

/**
 * A Corefile with rules in a marked block for names of Services of the remotes and of global Services: those of
 * docs/service-mirror.md. Without remotes, the block goes.
 *
 * @returns undefined if no place for the block is known: there isn't exactly one directive `kubernetes`
 */
export function corefileWith(corefile: string, remotes: readonly string[]): string | undefined {
  const others = corefile.replace(OURS, '');
  if (remotes.length === 0) return others;
  const [directive, ...more] = others.matchAll(KUBERNETES);
  if (directive === undefined || more.length > 0) return undefined;
  const [, indent = '', domain = ''] = directive;
  const zones = [...remotes.toSorted().map((name) => ({ name, prefix: name })), { name: 'global', prefix: 'gl' }];
  const lines = [BEGIN, ...zones.flatMap((zone) => ruleOf(zone, domain.replace(/\.$/, ''))), END];
  const block = lines.map((line) => `${indent}${line}\n`).join('');
  return `${others.slice(0, directive.index)}${block}${others.slice(directive.index)}`;
}

/** A Corefile with rules for these remotes only. Without our block, it stays. @returns as `corefileWith` */
export const corefileWithout = (corefile: string, remotes: readonly string[]): string | undefined =>
  OURS.test(corefile) ? corefileWith(corefile, remotes) : corefile;

function ruleOf({ name, prefix }: { name: string; prefix: string }, domain: string): readonly string[] {
  const escapedDomain = domain.replaceAll('.', String.raw`\.`);
  const query = String.raw`^((?:[^.]+\.)*)([^.]+)\.([^.]+)\.svc\.cluster\.${name}\.$`;
  const mirror = String.raw`^((?:[^.]+\.)*)${prefix}-([^.]+?)-73736d-([^.]+)\.sys-semaphore\.svc\.${escapedDomain}\.$`;
  const answer = `{1}{3}.{2}.svc.cluster.${name}`;
  return [
    'rewrite stop {',
    `    name regex ${query} {1}${prefix}-{3}-73736d-{2}.sys-semaphore.svc.${domain}`,
    `    answer name ${mirror} ${answer}`,
    `    answer value ${mirror} ${answer}`,
    '}',
  ];
}
