// A submodule for `import MultipeerConnectivity.MCSession`; the declarations are in Swift.
#pragma once
