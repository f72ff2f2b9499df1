import type { ExpectedCall, LoadRequest } from "../request.ts";
import type { Expectation, ResultKind } from "./expectation.ts";
import { compileTemplate, drawnOnce, type Scope } from "./template.ts";

export type CallFields = {
  call: string;
  params?: readonly unknown[] | undefined;
  expect?: readonly ResultKind[] | undefined;
  equals?: string | undefined;
};

/** Makes a request with the next ids; `undefined` where a placeholder has no value. */
export type RequestMaker = (scope: Scope) => LoadRequest | undefined;

export function compileSingle(fields: CallFields, nextId: () => number): RequestMaker {
  const make = compileCall(fields);
  return (scope) => {
    const made = make(scope, nextId());
    return made && { label: fields.call, body: made.text, calls: [made.call], isBatch: false };
  };
}

export function compileBatch(name: string, batch: readonly CallFields[], nextId: () => number): RequestMaker {
  const makers = batch.map(compileCall);
  return (scope) => {
    const calls: ExpectedCall[] = [];
    const texts: string[] = [];
    for (const make of makers) {
      const made = make(scope, nextId());
      if (made === undefined) return undefined;
      calls.push(made.call);
      texts.push(made.text);
    }
    return { label: `batch: ${name}`, body: `[${texts.join(",")}]`, calls, isBatch: true };
  };
}

function compileCall({ call: method, params = [], expect = ["any"], equals }: CallFields) {
  const template = compileTemplate(params);
  const expectation: Expectation = { kinds: expect, equals };
  const prefix = `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"id":`;
  return (scope: Scope, id: number): { text: string; call: ExpectedCall } | undefined => {
    const paramsText = template(drawnOnce(scope));
    if (paramsText === undefined) return undefined;
    return { text: `${prefix}${id},"params":${paramsText}}`, call: { method, id, expectation } };
  };
}
