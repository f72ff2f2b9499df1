#!/bin/bash
# As in the published image: a user other than root runs Besu through a shell; root becomes the user besu first.
if [ "$(id -u)" -ne 0 ]; then exec /bin/bash -c "/opt/besu/bin/besu $*"; fi
exec su -s /bin/bash "$BESU_USER_NAME" -c "/opt/besu/bin/besu $*"
