// A submodule for `import MultipeerConnectivity.MCBrowserViewController`; the declarations are in Swift.
#pragma once
