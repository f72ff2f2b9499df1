import { FetchRequest, JsonRpcProvider } from "ethers";

export function connect({ url, key }: { url: string; key: string }): JsonRpcProvider {
  const request = new FetchRequest(url);
  request.setHeader("X-API-Key", key);
  return new JsonRpcProvider(request, 8845, { staticNetwork: true });
}
