const BEGIN = '# semaphore link: begin';
const END = '# semaphore link: end';

/** A block of ours, with its line break. */
const OURS = new RegExp(String.raw`^[ \t]*${BEGIN}\n[^]*?^[ \t]*${END}\n`, 'gm');

/** The zone of ServiceImports: that of docs/mcs.md. */
const ZONE = `clusterset.local:53 {
    errors
    kubernetes clusterset.local {
        multicluster clusterset.local
    }
    cache 5
}
`;

/** The directive that serves the cluster's own names; its first argument is the domain of the cluster. */
const KUBERNETES = /^([ \t]*)kubernetes[ \t]+(?!clusterset\.local)([^\s{]+)/gm;

/** A zone of ServiceImports that isn't ours: CoreDNS takes no second one. */
const OTHER_ZONE = /^[^#\n]*\bclusterset\.local\b/m;

/**
 * A Corefile with rules in a marked block for names of Services of the remotes and of global Services: those of
 * docs/service-mirror.md. Without remotes, the block goes.
 *
 * @param mcs it also has a zone for ServiceImports, in a marked block of its own
 * @returns undefined if no place for the block is known: there isn't exactly one directive `kubernetes`
 */
export function corefileWith(
  corefile: string,
  { remotes, mcs = false }: { readonly remotes: readonly string[]; readonly mcs?: boolean },
): string | undefined {
  const others = corefile.replaceAll(OURS, '');
  if (remotes.length === 0) return others;
  const [directive, ...more] = others.matchAll(KUBERNETES);
  if (directive === undefined || more.length > 0) return undefined;
  const [, indent = '', domain = ''] = directive;
  const zones = [...remotes.toSorted().map((name) => ({ name, prefix: name })), { name: 'global', prefix: 'gl' }];
  const lines = [BEGIN, ...zones.flatMap((zone) => ruleOf(zone, domain.replace(/\.$/, ''))), END];
  const block = lines.map((line) => `${indent}${line}\n`).join('');
  const zone = mcs && !OTHER_ZONE.test(others) ? `${BEGIN}\n${ZONE}${END}\n` : '';
  return `${zone}${others.slice(0, directive.index)}${block}${others.slice(directive.index)}`;
}

/** A Corefile with rules for these remotes only. Without a block of ours, it stays. @returns as `corefileWith` */
export const corefileWithout = (corefile: string, remotes: readonly string[]): string | undefined =>
  corefile.includes(BEGIN)
    ? corefileWith(corefile, { remotes, mcs: corefile.includes(`${BEGIN}\nclusterset.local`) })
    : corefile;

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
