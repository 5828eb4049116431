// A submodule for `import MultipeerConnectivity.MCNearbyServiceAdvertiser`; the declarations are in Swift.
#pragma once
