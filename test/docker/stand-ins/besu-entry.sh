#!/bin/bash
# As the published image's: whoever is not root runs Besu as is, by way of a shell; root would hand its paths to besu first.
if [ "$(id -u)" -ne 0 ]; then exec /bin/bash -c "/opt/besu/bin/besu $*"; fi
exec su -s /bin/bash "$BESU_USER_NAME" -c "/opt/besu/bin/besu $*"
