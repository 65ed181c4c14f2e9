import * as z from 'zod/mini';
import { UsageError } from '../usage-error.ts';

/** What the user says of clusters that can't be found out, as `context=value` in a flag; false: it is to be found out again. */
export type AnswerOptions = {
  readonly clusterName?: readonly string[];
  readonly server?: readonly string[] | false;
  readonly podCidr?: readonly string[] | false;
  readonly serviceCidr?: readonly string[] | false;
  readonly nodeCidr?: readonly string[] | false;
  readonly ipam?: readonly string[] | false;
};

const one = z.optional(z.union([z.string(), z.literal(false)]));
const some = z.optional(z.union([z.readonly(z.array(z.string())), z.literal(false)]));

export const answersSchema = z.strictObject({
  server: one,
  podCidrs: some,
  serviceCidrs: some,
  nodeCidrs: some,
  ipam: one,
});

/** The same of one cluster. An absent answer is undefined. */
export type Answers = z.infer<typeof answersSchema>;

/** The answers of one run. The name of a cluster is that of its folder, so no run keeps it. */
export type GivenAnswers = Answers & { readonly name: string | undefined };

/** The answers of each context, in their order. @throws {UsageError} if one names no context */
export function answersOf(options: AnswerOptions, contexts: readonly string[]): readonly GivenAnswers[] {
  const of = (flag: string, raw: readonly string[] | false = []) => {
    const all = (raw || []).map((text) => {
      const [context = '', value = ''] = split(text);
      if (value === '') throw new UsageError(`${flag} ${text} must be CONTEXT=VALUE`);
      if (!contexts.includes(context))
        throw new UsageError(`${flag} ${text} names no --context: use one of ${contexts.join(', ')}`);
      return { context, value };
    });
    const values = (context: string) => all.filter((each) => each.context === context).map(({ value }) => value);
    const absent = raw === false ? raw : undefined;
    return {
      last: (context: string) => values(context).at(-1) ?? absent,
      all: (context: string) => (values(context).length > 0 ? values(context) : absent),
    };
  };
  const names = of('--cluster-name', options.clusterName);
  const servers = of('--server', options.server);
  const podCidrs = of('--pod-cidr', options.podCidr);
  const serviceCidrs = of('--service-cidr', options.serviceCidr);
  const nodeCidrs = of('--node-cidr', options.nodeCidr);
  const ipams = of('--ipam', options.ipam);
  return contexts.map((context) => ({
    name: names.last(context) || undefined,
    server: servers.last(context),
    podCidrs: podCidrs.all(context),
    serviceCidrs: serviceCidrs.all(context),
    nodeCidrs: nodeCidrs.all(context),
    ipam: ipams.last(context),
  }));
}

/** At the first `=`: a URL may have more. */
function split(text: string): readonly string[] {
  const at = text.indexOf('=');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
