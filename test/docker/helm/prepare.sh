#!/bin/sh
# What looks at the Helm chart, once a machine: helm, kubeconform and kube-score from the Go module proxy, and what they judge by:
# Kubernetes' OpenAPI and the resources of Prometheus's operator and CloudNativePG, out of their own modules.
set -eu
cd "$(dirname "$0")"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/tollgate/helm-tools-1"
[ -e "$tools/complete" ] && exit
rm -rf "$tools"
mkdir -p "$tools/openapi"
trap 'chmod -R u+w "$tools/modules" 2>/dev/null || true; rm -rf "$tools/modules" "$tools/go"' EXIT

# helm's go.mod asks for it.
needed_minor=26
. ../../helpers/find-go.sh

# Modules of a place of its own, since 400 MB of sources are of no use afterwards; what is compiled is kept by Go itself.
export GOMODCACHE="$tools/modules" GOBIN="$tools/bin" GOFLAGS="-ldflags=-s -ldflags=-w"
for program in \
  github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 \
  github.com/zegl/kube-score/cmd/kube-score@v1.20.0 \
  helm.sh/helm/v4/cmd/helm@v4.3.1; do
  nice "$go" install "$program"
done

cd "$tools"
take() { # MODULE VERSION FILE NAME
  folder=$("$go" mod download -json "$1@$2" | sed -nE 's/^\s*"Dir": "(.*)",?$/\1/p')
  cp "$folder/$3" "openapi/$4"
}
# The oldest Kubernetes that the chart takes, and a young one.
take k8s.io/kubernetes v1.31.14 api/openapi-spec/swagger.json kubernetes-1.31.json
take k8s.io/kubernetes v1.36.3 api/openapi-spec/swagger.json kubernetes-1.36.json
operator=github.com/prometheus-operator/prometheus-operator
for kind in servicemonitors prometheusrules; do
  take "$operator" v0.85.0 "example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" "$kind.yaml"
done
take github.com/cloudnative-pg/cloudnative-pg v1.27.0 config/crd/bases/postgresql.cnpg.io_clusters.yaml clusters.yaml
chmod -R u+w openapi
touch complete
