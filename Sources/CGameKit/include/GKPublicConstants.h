// A submodule for `import GameKit.GKPublicConstants`; the declarations are in Swift.
#pragma once
