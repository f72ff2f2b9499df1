{{/* What no schema can say: what is missing together, and what does not go together. Each text says what to do. */}}
{{- define "tollgate.validate" -}}
{{- $manifest := include "tollgate.manifest" . | fromJson -}}
{{- with .Values -}}
{{- if .validators.enabled -}}
{{- range $key, $file := dict "manifest" "network.json" "genesis" "genesis.json" "besuConfig" "validator-1/config.toml" "operatorPublicKey" "operator.pub.pem" -}}
{{- if not (get $.Values.network $key) -}}
{{- fail (printf "network.%s is missing: npm run genesis -- init makes the network's files; then --set-file network.%s=network/%s" $key $key $file) -}}
{{- end -}}
{{- end -}}
{{- if not .validators.keysSecret -}}
{{- fail "validators.keysSecret is missing: name the Secret with the validators' keys (docs/kubernetes.md makes it)" -}}
{{- end -}}
{{- range $index, $node := $manifest.validators -}}
{{- $expected := printf "validator-%d" (add1 $index) -}}
{{- if ne $node.name $expected -}}
{{- fail (printf "network.manifest: %s was expected in place %d and %s is there: a StatefulSet's pods are numbered without gaps. Keep a validator that was voted out in network.json" $expected (add1 $index) $node.name) -}}
{{- end -}}
{{- end -}}
{{- if and $manifest.traceNode (not .network.traceNodeConfig) -}}
{{- fail "network.traceNodeConfig is missing: network.json has a trace node, so --set-file network.traceNodeConfig=network/trace-node/config.toml" -}}
{{- end -}}
{{- else if and .gateway.enabled (not .gateway.upstreams) -}}
{{- fail "gateway.upstreams is missing: with validators.enabled=false say where they are: validator-1=http://HOST:8545,…" -}}
{{- end -}}
{{- range $name := list "gateway" "api" -}}
{{- with get $.Values $name -}}
{{- if and .enabled (gt (int .workers) 1) -}}
{{- $cpu := toString .resources.limits.cpu -}}
{{- $milli := ternary (trimSuffix "m" $cpu | float64) (mulf (float64 $cpu) 1000.0) (hasSuffix "m" $cpu) -}}
{{- if lt $milli (mulf (float64 .workers) 1000.0) -}}
{{- fail (printf "%s.workers is %d and %s.resources.limits.cpu is %s: a worker uses a core, so allow at least %d" $name (int .workers) $name $cpu (int .workers)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (or .gateway.enabled .api.enabled) (not .redis.urlSecret) -}}
{{- fail "redis.urlSecret is missing: name a Secret whose key `url` has the address of Redis" -}}
{{- end -}}
{{- if .faucet.enabled -}}
{{- if not .faucetRedis.urlSecret -}}
{{- fail "faucetRedis.urlSecret is missing: the faucet's claims need a Redis of their own (appendfsync always). Name a Secret whose key `url` has its address, or set faucet.enabled=false" -}}
{{- end -}}
{{- if not .faucet.upstreamKeySecret -}}
{{- fail "faucet.upstreamKeySecret is missing: name a Secret whose key `key` is an API key of the gateway, or set faucet.enabled=false until there is one (docs/kubernetes.md)" -}}
{{- end -}}
{{- if and (eq .profile "production") (not .faucet.keystoreSecret) -}}
{{- fail "faucet.keystoreSecret is missing: in production the faucet pays from a keystore. npm run genesis -- keystore makes one" -}}
{{- end -}}
{{- end -}}
{{- if .api.enabled -}}
{{- if not (or .postgresql.urlSecret .postgresql.cloudNativePG.enabled) -}}
{{- fail "postgresql.urlSecret is missing: name a Secret with the address of PostgreSQL, or set postgresql.cloudNativePG.enabled=true, or api.enabled=false" -}}
{{- end -}}
{{- if not .api.upstreamKeySecret -}}
{{- fail "api.upstreamKeySecret is missing: name a Secret whose key `key` is an API key of the gateway, or set api.enabled=false until there is one (docs/kubernetes.md)" -}}
{{- end -}}
{{- if not .api.publicUrl -}}
{{- fail "api.publicUrl is missing: say where people reach the API, such as https://explorer.example.org" -}}
{{- end -}}
{{- if eq .profile "production" -}}
{{- if ne (len .api.origins) 2 -}}
{{- fail "api.origins: in production name exactly two origins, the explorer's and the main site's" -}}
{{- end -}}
{{- if not (get .config "fees.yaml") -}}
{{- fail "config.fees.yaml is missing: in production no fees go to development accounts. npm run genesis -- fee-keys writes one: --set-file 'config.fees\\.yaml=network/fees.yaml'" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range list "gateway" "api" -}}
{{- $scaling := (get $.Values .).autoscaling -}}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) -}}
{{- fail (printf "%s.autoscaling.minReplicas is %d, more than maxReplicas, %d" . (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not .networkPolicy.publicFrom) -}}
{{- range list "gateway" "faucet" "api" -}}
{{- if and (get $.Values .).enabled (get $.Values .).trustedProxies -}}
{{- fail (printf "networkPolicy.publicFrom is missing: with %s.trustedProxies any pod of these ranges could name any client's address. Say who may connect, such as the ingress controller's namespace" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .ingress.enabled -}}
{{- range list "gateway" "faucet" "api" -}}
{{- if and (get $.Values.ingress (printf "%sHost" .)) (not (get $.Values .).enabled) -}}
{{- fail (printf "ingress.%sHost is set while %s.enabled is false" . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
