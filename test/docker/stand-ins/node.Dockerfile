# Stands in for the image node:22: node, and an npm that has its packages with it.
FROM tollgate-test/base
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
COPY packages /var/cache/npm
ARG REGISTRY
ENV npm_config_cache=/var/cache/npm npm_config_offline=true npm_config_registry=${REGISTRY}
