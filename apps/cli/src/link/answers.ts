import { UsageError } from '../usage-error.ts';

/** What the user says of a cluster that can't be found out, as `context=value` in a flag. */
export type AnswerOptions = {
  readonly clusterName?: readonly string[];
  readonly server?: readonly string[];
  readonly podCidr?: readonly string[];
  readonly serviceCidr?: readonly string[];
  readonly ipam?: readonly string[];
};

/** The same of one cluster. An absent answer is undefined. */
export type Answers = {
  readonly name: string | undefined;
  readonly server: string | undefined;
  readonly podCidrs: readonly string[];
  readonly serviceCidrs: readonly string[];
  readonly ipam: string | undefined;
};

/** The answers of each context, in their order. @throws {UsageError} if one names no context */
export function answersOf(options: AnswerOptions, contexts: readonly string[]): readonly Answers[] {
  const of = (flag: string, raw: readonly string[] = []): readonly (readonly [string, string])[] =>
    raw.map((text) => {
      const [context = '', value = ''] = split(text);
      if (value === '') throw new UsageError(`${flag} ${text} must be CONTEXT=VALUE`);
      if (!contexts.includes(context))
        throw new UsageError(`${flag} ${text} names no --context: use one of ${contexts.join(', ')}`);
      return [context, value];
    });
  const names = of('--cluster-name', options.clusterName);
  const servers = of('--server', options.server);
  const podCidrs = of('--pod-cidr', options.podCidr);
  const serviceCidrs = of('--service-cidr', options.serviceCidr);
  const ipams = of('--ipam', options.ipam);
  return contexts.map((context) => {
    const mine = (all: readonly (readonly [string, string])[]): readonly string[] =>
      all.filter(([its]) => its === context).map(([, value]) => value);
    return {
      name: mine(names).at(-1),
      server: mine(servers).at(-1),
      podCidrs: mine(podCidrs),
      serviceCidrs: mine(serviceCidrs),
      ipam: mine(ipams).at(-1),
    };
  });
}

/** At the first `=`: a URL may have more. */
function split(text: string): readonly string[] {
  const at = text.indexOf('=');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
