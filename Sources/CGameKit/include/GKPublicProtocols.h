// A submodule for `import GameKit.GKPublicProtocols`; the declarations are in Swift.
#pragma once
