-- For vim.lsp.enable('midfill') and vim.lsp.config('midfill', ...).
return require('midfill.client').config()
