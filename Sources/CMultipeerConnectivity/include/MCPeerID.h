// A submodule for `import MultipeerConnectivity.MCPeerID`; the declarations are in Swift.
#pragma once
