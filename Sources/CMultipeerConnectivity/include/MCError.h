// A submodule for `import MultipeerConnectivity.MCError`; the declarations are in Swift.
#pragma once
