// A submodule for `import MultipeerConnectivity.MCNearbyServiceBrowser`; the declarations are in Swift.
#pragma once
