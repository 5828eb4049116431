// A submodule for `import GameKit.GKSession`; the declarations are in Swift.
#pragma once
